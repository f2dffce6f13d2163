/*! The project's source files as the compiler reads them, for tests that check rules about the code. */
import { resolve } from 'node:path';
import {
  type ExportDeclaration,
  type Node,
  type SourceFile,
  type Statement,
  type StringLiteral,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  isCallExpression,
  isExportDeclaration,
  isIdentifier,
  isNamedExports,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddleOrTail,
  isVariableStatement,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

export interface Source {
  path: string;
  /** The specifiers of all imports and re-exports as written, including types and `import()`. */
  imports: string[];
  /** Every identifier in the code; comments and strings have none. */
  identifiers: Set<string>;
  /** The names that it re-exports from other files (`export { a } from …`), as named there; `* from ./file.js` for all names of a file. */
  passedOn: string[];
  /** The names of exported declarations without a docstring. */
  undocumented: string[];
  /** Its strings, and the parts of its templates between placeholders. */
  texts: Text[];
}

/** A string, or one part of a template. */
export interface Text {
  text: string;
  /** The classes and functions whose argument contains it, at any depth: `InstanceError`, `warn`. */
  within: string[];
}

/** Reads the source files of packages, according to the `tsconfig.json` of each; those of one package are a list. */
export function sourcesOf(folders: readonly string[]): Source[][] {
  const api = new API(); // a process, whose start takes longer than reading a package
  try {
    const configs = folders.map(folder => resolve(folder, 'tsconfig.json'));
    const snapshot = api.updateSnapshot({ openProjects: configs });
    return configs.map(config => {
      const { program, rootFiles } = snapshot.getProject(config) ?? fail(`no project at ${config}`);
      return rootFiles.map(path => describe(program.getSourceFile(path) ?? fail(`no source file ${path}`)));
    });
  } finally {
    api.close();
  }
}

const describe = (file: SourceFile): Source => ({
  path: file.fileName.slice(resolve('.').length + 1),
  imports: file.imports.filter(isStringLiteral).map(specifier => specifier.text),
  identifiers: identifiersIn(file),
  passedOn: file.statements.filter(isExportDeclaration).flatMap(passedOnBy),
  undocumented: file.statements
    .filter(statement => isExported(statement) && !statement.jsDoc?.length)
    .flatMap(declaredBy),
  texts: textsIn(file, []),
});

function textsIn(node: Node, within: string[]): Text[] {
  const isText =
    isStringLiteral(node) ||
    isNoSubstitutionTemplateLiteral(node) ||
    isTemplateHead(node) ||
    isTemplateMiddleOrTail(node);
  const texts: Text[] = isText ? [{ text: node.text, within }] : [];
  const inside = isCallExpression(node) || isNewExpression(node) ? [...within, calleeOf(node.expression)] : within;
  node.forEachChild(child => void texts.push(...textsIn(child, inside)));
  return texts;
}

const calleeOf = (callee: Node): string => (isPropertyAccessExpression(callee) ? callee.name : callee).getText();

function identifiersIn(node: Node, found = new Set<string>()): Set<string> {
  if (isIdentifier(node)) found.add(node.text);
  node.forEachChild(child => void identifiersIn(child, found));
  return found;
}

const isExported = (statement: Node): boolean =>
  (statement as Statement & { modifiers?: readonly Node[] }).modifiers?.some(
    ({ kind }) => kind === SyntaxKind.ExportKeyword,
  ) ?? false;

function passedOnBy({ exportClause, moduleSpecifier }: ExportDeclaration): string[] {
  if (!exportClause || !isNamedExports(exportClause)) return [`* from ${(moduleSpecifier as StringLiteral).text}`];
  return exportClause.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
}

function declaredBy(statement: Node): string[] {
  const declarations = isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
  return declarations.map(declaration => (declaration as Node & { name?: Node }).name?.getText() ?? 'default');
}

function fail(reason: string): never {
  throw new Error(reason);
}
