import type { PropertyName } from '@sqlpipe/ddl';
import { addToList, isNamedKind, type KindAndName, namespaceKey } from '@sqlpipe/sql';
import { ignoresProperty, type KeepOptions } from '../context/kept-of-b.js';
import type { Change, Omission } from '../losses/omission.js';

/** A right has no name, so all rights of a kind have the same key. */
const omissionKey = (item: KindAndName): string => (isNamedKind(item.kind) ? namespaceKey(item) : item.kind);

/** Whether an option ignores a change. Its first property decides, because the others follow from it. */
export const isIgnored = ({ identity, properties: [property] }: Omit<Change, 'id'>, options: KeepOptions): boolean =>
  property !== undefined && ignoresProperty(options, identity, property);

/** What a draft leaves out. */
export class Omissions {
  /** By what is shown of them. If a draft tries to give the same right twice, its omission is listed once. */
  readonly #omissions = new Map<string, Omission>();
  readonly #byObject = new Map<string, Omission[]>();

  constructor(private readonly options: KeepOptions) {}

  add(omission: Omission): void {
    const { identity, properties, what, reasons, losses, hints } = omission;
    const key = `${namespaceKey(identity)} ${JSON.stringify([properties, what, reasons, losses, hints])}`;
    if (isIgnored(omission, this.options) || this.#omissions.has(key)) return;
    this.#omissions.set(key, omission);
    addToList(this.#byObject, omissionKey(identity), omission);
  }

  list(): Omission[] {
    return [...this.#omissions.values()];
  }

  /** Whether something of an object or a principal is left out. @param property by default any */
  has(identity: KindAndName, property?: PropertyName): boolean {
    return (this.#byObject.get(omissionKey(identity)) ?? []).some(
      ({ properties }) => property === undefined || properties.length === 0 || properties.includes(property),
    );
  }
}
