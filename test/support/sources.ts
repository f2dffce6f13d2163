/*! The project's own source files as the compiler sees them, so that rules about the code can be tests. */
import { resolve } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { isExportDeclaration, isIdentifier, isStringLiteral } from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

/** What the rules ask of a source file. */
export interface Source {
  /** Relative to the top of the project. */
  path: string;
  /** Specifiers of all imports and re-exports as written: types and `import()` too. */
  imports: string[];
  /** Every identifier in the code; comments and strings have none. */
  identifiers: Set<string>;
  /** First line of each exported declaration without a docstring. */
  undocumented: string[];
}

/** The source files of one package, by its `tsconfig.json`. */
export function sourcesOf(packageFolder: string): Source[] {
  const api = new API();
  try {
    const config = resolve(packageFolder, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const { program, rootFiles } = project ?? fail(`no project at ${config}`);
    return rootFiles.map(path => describe(program.getSourceFile(path) ?? fail(`no source file ${path}`)));
  } finally {
    api.close();
  }
}

const describe = (file: SourceFile): Source => ({
  path: file.fileName.slice(resolve('.').length + 1),
  imports: file.imports.filter(isStringLiteral).map(specifier => specifier.text),
  identifiers: identifiersIn(file),
  undocumented: file.statements
    .filter(statement => isExported(statement) && !statement.jsDoc?.length)
    .map(statement => firstLine(statement.getText(file))),
});

function identifiersIn(node: Node, found = new Set<string>()): Set<string> {
  if (isIdentifier(node)) found.add(node.text);
  node.forEachChild(child => void identifiersIn(child, found));
  return found;
}

/** Declared here and exported; a re-export has its docstring where it is declared. */
function isExported(statement: Node): boolean {
  if (isExportDeclaration(statement)) return false;
  let exported = false;
  statement.forEachChild(child => {
    if (child.kind === SyntaxKind.ExportKeyword) exported = true;
  });
  return exported;
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';

function fail(reason: string): never {
  throw new Error(reason);
}
