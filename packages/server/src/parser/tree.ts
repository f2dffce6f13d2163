/*! The tree that the grammar makes of a query, for those who look for something in it wherever that stands. */

/** A node, as far as a walk needs to know it. */
export interface TreeNode {
  readonly type?: string;
}

/** The nodes right below a node, those in its lists too, in order. */
export function childrenOf(node: object): TreeNode[] {
  return Object.values(node).flatMap((child: unknown) => {
    if (typeof child !== 'object' || child === null) return [];
    return Array.isArray(child) ? childrenOf(child) : child;
  });
}
