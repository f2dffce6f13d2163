import { collectGarbageEarly, Exit, type Io, readRuleFile, UsageError } from '@sqlpipe/cli';
import { decodeRecords, spool, writeRecords } from '@sqlpipe/records';
import { type Adapter, adaptStatements, type LossOptions, toEnterprise, toOpenSource, toVersion } from './adapt.js';
import { RenameRules, type RulesByRole, renameStatements } from './rename.js';

/** The translated statements, after all were read. @throws CodedError if one cannot be translated */
export async function* translateStatements(
  statements: AsyncIterable<string>,
  { names, adapters }: { readonly names: RulesByRole; readonly adapters: readonly Adapter[] },
  losses: LossOptions,
): AsyncGenerator<string> {
  const adapted = adaptStatements(statements, adapters, losses);
  const { objects, owners, principals } = names;
  const keepsNames = objects.isEmpty && owners.isEmpty && principals.isEmpty;
  yield* keepsNames ? await spool(toTexts(adapted)) : renameStatements(adapted, names);
}

async function* toTexts(statements: AsyncIterable<{ readonly statement: string }>): AsyncGenerator<string> {
  for await (const { statement } of statements) yield statement;
}

const EDITIONS: Record<string, Adapter> = { 'open-source': toOpenSource, oss: toOpenSource, enterprise: toEnterprise };

function adaptersFor(targets: readonly string[]): Adapter[] {
  const isVersion = (target: string): boolean => /^\d+(?:\.\d+){0,2}$/.test(target);
  for (const target of targets)
    if (!Object.hasOwn(EDITIONS, target) && !isVersion(target))
      throw new UsageError(`--to ${target}: must be open-source (or oss), enterprise, or a version such as 9.3.4`);
  const [versions, editions] = [targets.filter(isVersion), targets.filter(target => !isVersion(target))];
  if (versions.length > 1 || editions.length > 1)
    throw new UsageError('--to accepts at most one edition and one version');
  return [...editions.flatMap(edition => EDITIONS[edition] ?? []), ...versions.map(toVersion)];
}

type TranslationOptions = { readonly lossy: boolean; readonly maxRecord: number } & Readonly<
  Record<'rename' | 'renameFile' | 'owner' | 'principal' | 'to', readonly string[]>
>;

export async function writeTranslation(
  { rename, renameFile, owner, principal, to, lossy, maxRecord }: TranslationOptions,
  io: Io,
): Promise<number> {
  collectGarbageEarly();
  const fromFiles = await Promise.all(renameFile.map(path => readRuleFile('--rename-file', path)));
  const names = {
    objects: new RenameRules([...rename, ...fromFiles.flat()], '--rename'),
    owners: new RenameRules(owner, '--owner'),
    principals: new RenameRules(principal, '--principal'),
  };
  const translated = translateStatements(
    decodeRecords(io.stdin(), { maxRecord }),
    { names, adapters: adaptersFor(to) },
    { isLossy: lossy, warn: io.warn },
  );
  await writeRecords(translated, io.stdout, 'sqltr', maxRecord);
  return Exit.ok;
}
