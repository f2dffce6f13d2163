/*! Which names can't stand bare in a statement. The service prints column names and volumes bare, whatever they hold. */
import { fold } from './fold.js';

/** The words that the service refuses as a bare name (SqlKeywords; each observed on 9.3.4). */
export const KEYWORDS = [
  ...['add', 'align', 'all', 'alter', 'and', 'as', 'asc', 'attach', 'batch', 'between', 'bypass', 'cancel', 'case'],
  ...['cast', 'column', 'create', 'desc', 'detach', 'disable', 'distinct', 'drop', 'enable', 'end', 'except', 'exists'],
  ...['explain', 'false', 'from', 'in', 'insert', 'intersect', 'into', 'join', 'like', 'limit', 'lock', 'nan', 'not'],
  ...[
    'null',
    'on',
    'or',
    'order',
    'outer',
    'over',
    'partition',
    'rename',
    'resume',
    'sample',
    'select',
    'set',
    'squash',
  ],
  ...['table', 'to', 'true', 'union', 'update', 'upsert', 'values', 'where', 'with', 'within'],
];

const IS_KEYWORD = new Set(KEYWORDS);

/** What ends a bare name or opens a quote; what else a name may hold does not (tried on 9.3.4 character by character). */
const ENDS_NAME = /[ ;`&|^<=>[\]]/;

/** Whether a name has to be in quotes. One that the service has put in quotes has not. */
export const needsQuotes = (name: string): boolean =>
  !name.startsWith('"') && (ENDS_NAME.test(name) || IS_KEYWORD.has(fold(name)));

/** The name as it can stand in a statement. No name holds a double quote. */
export const quote = (name: string): string => (needsQuotes(name) ? `"${name}"` : name);
