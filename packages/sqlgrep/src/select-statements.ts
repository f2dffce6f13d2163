import { Exit, type Io, UsageError } from '@sqlpipe/cli';
import { decodeRecords, writeRecords } from '@sqlpipe/records';
import {
  collectStatements,
  createMatcher,
  type Entry,
  type MatchCriteria,
  type RelatedOptions,
  Schema,
  selectWithRelated,
  toUnambiguousEntry,
} from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import { escapeControls, formatSafeJson } from '@sqlpipe/text';

type GrepArgs = Omit<MatchCriteria, 'patterns'> &
  RelatedOptions & { operands: string[]; maxRecord: number; count?: boolean; list?: boolean; json?: boolean };

export async function writeSelection({ operands: patterns, maxRecord, ...options }: GrepArgs, io: Io) {
  const matcher = createMatcher({ ...options, patterns });
  let matchCount = 0;
  const matchAndCount = (entry: Entry): boolean => {
    const isMatch = matcher(entry);
    if (isMatch) matchCount++;
    return isMatch;
  };
  const { count, list, json } = options;
  if ([count, list, json].filter(Boolean).length > 1)
    throw new UsageError('--count, --list and --json cannot be combined');
  const selected = selectStatements(decodeRecords(io.stdin(), { maxRecord }), matchAndCount, options);
  if (count) {
    let selectedCount = 0;
    for await (const _ of selected) selectedCount++;
    await io.write(`${selectedCount}\n`);
  } else if (list || json) for await (const statement of selected) await io.write(`${formatLine(statement, json)}\n`);
  else await writeRecords(selected, io.stdout, 'sqlgrep', maxRecord);
  if (!matchCount) io.info('nothing matched');
  return matchCount ? Exit.ok : Exit.negative;
}

/** Yields the statements that match, in input order. With related statements, yields nothing before the input has ended. */
async function* selectStatements(
  statements: AsyncIterable<string>,
  matches: (entry: Entry) => boolean,
  related: RelatedOptions,
): AsyncGenerator<string> {
  if (related.withDeps || related.withDependents) {
    const schema = new Schema(await collectStatements(statements));
    for (const { statement } of selectWithRelated(schema, matches, related)) yield statement;
  } else {
    for await (const statement of statements) if (matches(toUnambiguousEntry(statement))) yield statement;
  }
}

/** The kind of an object, a tab, its name; or a line of JSON with the unchanged statement, with its secrets. */
function formatLine(statement: string, json: boolean | undefined): string {
  const { kind, name } = identify(statement);
  return json ? formatSafeJson({ kind, name, statement }) : `${kind}\t${escapeControls(name)}`;
}
