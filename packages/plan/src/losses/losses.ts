/*! The names of losses: `drop:trades.qty`, `history:m_1h`. A plan prints them, and --allow-loss accepts them. */
import type { LossKind } from '@sqlpipe/engine';
import { InvalidOptionError } from '@sqlpipe/schema';
import {
  type FindColumns,
  findPossiblePaths,
  formatPath,
  formatPathForShell,
  type ObjectPath,
  pathKey,
  resolvePath,
} from './object-path.js';

export interface NamedLoss extends ObjectPath {
  readonly lossKind: LossKind;
}

/** Whether the name of a loss may contain a column: `drop:trades.qty`. */
const HAS_COLUMN: Readonly<Record<LossKind, boolean>> = {
  drop: true,
  'drop-user': false,
  history: false,
  values: true,
  ttl: false,
  keys: false,
};

const pathOf = ({ lossKind, object, column }: NamedLoss): ObjectPath =>
  HAS_COLUMN[lossKind] ? { object, column } : { object };

/** The loss of the rows of an object that expire. */
export const expiredRowsOf = (object: string): NamedLoss => ({ lossKind: 'ttl', object });

export const formatLoss = (loss: NamedLoss): string => `${loss.lossKind}:${formatPath(pathOf(loss))}`;

/** The option that allows a loss, as typed in a shell. */
export const formatAllowance = (loss: NamedLoss): string => `--allow-loss ${formatPathForShell(formatLoss(loss))}`;

const lossKey = (loss: NamedLoss): string => `${loss.lossKind} ${pathKey(pathOf(loss))}`;

export class AllowedLosses {
  readonly #names = new Map<string, string>();

  /**
   * @param findColumns finds the columns of an object in both schemas. They are needed because a dot may be part of a name.
   * @param findPaths finds the paths of an object or a column before and after renames
   * @throws InvalidOptionError for a text that is not the name of a loss, or is ambiguous
   */
  constructor(
    names: readonly string[],
    findColumns: FindColumns,
    private readonly findPaths: (path: ObjectPath) => readonly ObjectPath[] = path => [path],
  ) {
    for (const name of names) for (const loss of parseLosses(name, findColumns)) this.#names.set(lossKey(loss), name);
  }

  allows(loss: NamedLoss): boolean {
    return this.namesOf([loss]).length > 0;
  }

  /** Finds the names that allow some losses. A name may contain the old or the new name of an object and of a column. */
  namesOf(losses: readonly NamedLoss[]): string[] {
    return losses.flatMap(loss => {
      const keys = this.findPaths(loss).map(path => lossKey({ ...loss, ...path }));
      return keys.map(key => this.#names.get(key)).find(name => name !== undefined) ?? [];
    });
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#names.values());
  }
}

/** Parses `drop:a.b`. If both schemas lack `a.b`, an earlier plan may have dropped it. Then table `a.b` and column `b` both count. */
function parseLosses(name: string, findColumns: FindColumns): NamedLoss[] {
  const [, word = '', path = ''] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
  if (!Object.hasOwn(HAS_COLUMN, word))
    throw new InvalidOptionError(
      `--allow-loss ${name}: not the name of a loss; sqldiff --alter prints the names, such as drop:trades.qty and history:m_1h`,
    );
  const lossKind = word as LossKind;
  const existing = HAS_COLUMN[lossKind] ? resolvePath(path, findColumns) : undefined;
  const all = HAS_COLUMN[lossKind] ? findPossiblePaths(path) : findPossiblePaths(path).slice(0, 1);
  return (existing ? [existing] : all).map(each => ({ lossKind, ...each }));
}
