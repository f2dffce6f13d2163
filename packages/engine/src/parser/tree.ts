/*! A walk through the syntax tree of a query, for code that searches all of its nodes. */

/** A node of the tree, with the one property that a walk needs. */
export interface TreeNode {
  readonly type?: string;
}

/** The children of a node in order, including those in its lists. */
export function childrenOf(node: object): TreeNode[] {
  return Object.values(node).flatMap((child: unknown) => {
    if (typeof child !== 'object' || child === null) return [];
    return Array.isArray(child) ? childrenOf(child) : child;
  });
}
