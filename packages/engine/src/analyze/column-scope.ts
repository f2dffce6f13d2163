/*! The columns that a query may refer to, and how QuestDB finds one by its name. */
import type { QualifiedName } from '@questdb/sql-parser';
import { isSameName } from '@sqlpipe/sql';
import type { ParsedQuery } from '../parse/parse-query.js';
import { inferFunctionType } from './functions.js';
import type { NameResolver } from './infer-type.js';
import type { QueryScope } from './query-scope.js';

export interface Field {
  readonly name: string;
  readonly type: string | undefined;
}

/** What a query returns. */
export interface Relation {
  readonly fields: readonly Field[];
  readonly timestamp?: string | undefined;
  /** Whether there may be further columns, for example of an unknown function. */
  readonly hasUnknownColumns?: boolean;
}

export interface AliasedRelation {
  readonly alias: string | undefined;
  readonly relation: Relation;
}

export class ColumnScope {
  readonly query: ParsedQuery;

  constructor(
    private readonly queryScope: QueryScope,
    private readonly sources: readonly AliasedRelation[],
  ) {
    this.query = queryScope.query;
  }

  withAliases(aliases: readonly Field[]): NameResolver {
    return {
      query: this.query,
      typeOfColumn: (parts, expression) => this.#typeOfColumn(parts, expression, aliases),
      findVariable: name => this.queryScope.findVariable(name),
    };
  }

  /** Rejects an unknown column of LATEST ON. There, a column that several sources have is not ambiguous. */
  rejectUnknown(name: QualifiedName): void {
    const fields = this.sources.flatMap(({ relation }) => relation.fields);
    if (name.parts.length > 1 || !fields.some(field => isSameName(field.name, name.parts[0])))
      this.#typeOfColumn(name.parts, name, []);
  }

  /** A column hides an alias of the same name. If several sources have the column, it is ambiguous, unless an alias has its name. */
  #typeOfColumn(parts: readonly string[], expression: object, aliases: readonly Field[]): string | undefined {
    const name = parts.at(-1) ?? '';
    const qualifier = parts.length > 1 ? parts.slice(0, -1).join('.') : undefined;
    const sources = this.sources.filter(({ alias }) => qualifier === undefined || isSameName(alias, qualifier));
    if (qualifier !== undefined && sources.length === 0)
      throw this.query.rejection('Invalid table name or alias', expression);
    const holders = sources.filter(({ relation }) => relation.fields.some(field => isSameName(field.name, name)));
    if (qualifier === undefined && holders.length > 1 && !aliases.some(alias => isSameName(alias.name, name)))
      throw this.query.rejection(`Ambiguous column [name=${name}]`, expression);
    const field = [...sources.flatMap(({ relation }) => relation.fields), ...(qualifier ? [] : aliases)].find(field =>
      isSameName(field.name, name),
    );
    if (field) return field.type;
    if (sources.some(({ relation }) => relation.hasUnknownColumns)) return undefined;
    // A function without arguments may be called without parentheses.
    const type = qualifier === undefined ? inferFunctionType(name, []) : undefined;
    if (type !== undefined) return type;
    throw this.query.rejection(`Invalid column: ${parts.join('.')}`, expression);
  }

  columnsOf(qualifier: string | undefined): readonly Field[] {
    if (qualifier === undefined) return this.sources.flatMap(({ relation }) => relation.fields);
    return this.sources.find(({ alias }) => isSameName(alias, qualifier))?.relation.fields ?? [];
  }
}
