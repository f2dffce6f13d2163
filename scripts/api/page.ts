/*! docs/API.md: the library's functions and types with their docstrings, from its compiled declarations. */
import { readFileSync } from 'node:fs';

/** In the order of the page. */
const FILES = ['serve', 'dump', 'split', 'join', 'diff', 'plan', 'replay', 'parse', 'instance', 'schema', 'errors'];

/** Of files that have types only. */
const TITLES: Record<string, string> = { instance: 'Instances', schema: 'Schemas' };

interface Declaration {
  name: string;
  isFunction: boolean;
  code: string;
  docstring: string;
}

const read = (file: string, from = 'api') => readFileSync(`packages/${from}/dist/${file}.d.ts`, 'utf8');

/** The names that `index` gives to others, by the file or the package they come from. */
export function publicNames(): Map<string, string[]> {
  const exports = Array.from(
    read('index').matchAll(/^export (?:type )?\{ (.*?) \} from '(?:\.\/)?([^']+?)(?:\.js)?';/gm),
  );
  return new Map(exports.map(([, names = '', from = '']) => [from, names.replaceAll('type ', '').split(', ')]));
}

/** The page: the functions of a file, then their signatures and types. */
export function formatApiPage(): string {
  const names = publicNames();
  const sections = FILES.flatMap(file => {
    const text = file === 'errors' ? read('coded-error', 'text') + read(file) : read(file);
    const declared = declarationsIn(text).filter(({ name }) => names.get(file)?.includes(name));
    const functions = declared.filter(each => each.isFunction);
    const types = declared.filter(each => !each.isFunction);
    const headings = functions.length > 0 ? functions.map(formatFunction) : [`## ${TITLES[file]}\n`];
    return [...headings, formatCode([...functions.map(formatSignature), ...types.map(formatType)])];
  });
  const others = [...names].filter(([from]) => from.startsWith('@')).flatMap(([, some]) => some);
  const [, introduction = ''] = /^\/\*\*(.*?)@packageDocumentation/s.exec(read('index')) ?? [];
  return [
    `# API\n\n${stripStars(introduction)}\n`,
    ...sections,
    `The types ${others.map(name => `\`${name}\``).join(', ')} are in the declarations, which editors show.\n`,
  ].join('\n');
}

/** Each has a docstring; what follows one without a docstring of its own, as an overload, belongs to it. */
function declarationsIn(text: string): Declaration[] {
  const found = text.matchAll(/^\/\*\*(.*?)\*\/\n(export .*?)(?=^\/\*\*|^\/\/#|^export \{\})/gms);
  return Array.from(found, ([, docstring = '', code = '']) => {
    const [, keyword = '', name = ''] = /^export (?:declare )?(\w+) (\w+)/.exec(code) ?? [];
    return { name, isFunction: ['function', 'const'].includes(keyword), code, docstring: stripStars(docstring) };
  });
}

const stripStars = (docstring: string): string => docstring.replace(/^ *\* ?/gm, '').trim();

const formatFunction = ({ name, docstring }: Declaration): string => `## ${name}\n\n${docstring}\n`;

const formatCode = (pieces: string[]): string => `\`\`\`ts\n${pieces.join('\n')}\`\`\`\n`;

/** Without what a parameter is taken apart to. */
const formatSignature = ({ code }: Declaration): string =>
  formatDeclaration(code)
    .replace(/\{[^{}]*\}\?: (?=\w+Options\b|\{)/g, 'options?: ')
    .replace(/^const (\w+): (.*) => (.*;)$/gm, 'function $1$2: $3');

const formatType = ({ code, docstring }: Declaration): string => {
  const lines = docstring.split('\n');
  const comment =
    lines.length > 1 ? `/**\n${lines.map(line => ` * ${line}`.trimEnd()).join('\n')}\n */` : `/** ${docstring} */`;
  return `${comment}\n${formatDeclaration(code)}`;
};

const formatDeclaration = (code: string): string =>
  code.replace(/^export (declare )?/gm, '').replace(/^( {4})+/gm, indent => '  '.repeat(indent.length / 4));
