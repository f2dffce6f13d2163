/*! The words of SQL, each once, with its roles in statements and queries (observed on 9.3.4). A word that is not reserved may be a name. */
import { NameSet } from '@sqlpipe/sql';

type Role =
  | 'reserved' // rejected as a bare name (SqlKeywords); all other roles are in queries
  | 'keyword' // its case has no meaning, unless it is a name; every reserved word is a keyword too
  | 'phrase' // ends one: CURRENT ROW, ALIGN TO CALENDAR, in a position where a name could be
  | 'item' // a keyword also as an item of a list: FILL(PREV, LINEAR)
  | 'no alias' // after a table, it is not an alias; nor is a reserved word
  | 'ends alias' // after a table of a query without SELECT
  | 'clause' // starts a clause after the tables
  | 'before table' // where a table may be: for example, it starts a query
  | 'before column'; // a quoted name after it is not an alias; nor is one after a reserved word

/** The server has its own list of what ends an alias (SqlParser): with RANGE, without LATERAL, OFFSET, PREVAILING and UNPIVOT. */
const WORDS: readonly (readonly [roles: readonly Role[], words: string])[] = [
  [
    ['reserved'],
    'add align all alter and as asc attach batch between bypass cancel case cast column create desc detach disable distinct drop ' +
      'enable end exists explain false in insert into like lock nan not null or over partition rename resume select set squash table ' +
      'to true update upsert values with within',
  ],
  [['reserved', 'ends alias'], 'except from intersect join on outer union'],
  [['reserved', 'ends alias', 'clause'], 'limit order sample where'],
  [
    ['keyword'],
    'anchor convert current daily decimal else exclude expression fill first first_value for groups if ignore ilike include is ' +
      'natural no nulls respect tick time unbounded using without',
  ],
  [['keyword', 'phrase'], 'calendar cumulative following interval observation others preceding row rows ties zone'],
  [['keyword', 'phrase', 'item'], 'linear none prev'],
  [['keyword', 'phrase', 'ends alias'], 'range'],
  [['keyword', 'phrase', 'no alias'], 'prevailing'],
  [['keyword', 'phrase', 'no alias', 'ends alias', 'clause'], 'group window'],
  [['keyword', 'no alias', 'ends alias', 'clause'], 'latest pivot'],
  [['keyword', 'no alias', 'ends alias'], 'asof cross full horizon inner left lt right splice timestamp tolerance'],
  [['keyword', 'no alias'], 'offset'],
  [['no alias'], 'lateral unpivot'],
  [['keyword', 'before table'], 'declare overridable'],
  [['before table'], 'public show'],
  [['keyword', 'before column'], 'by then when'],
];

/** The words that have one of some roles. */
export const wordsWith = (...roles: readonly Role[]): NameSet =>
  new NameSet(WORDS.flatMap(([all, words]) => (roles.some(role => all.includes(role)) ? words.split(' ') : [])));

/** The words that the server rejects as a bare name. */
export const RESERVED = wordsWith('reserved');
