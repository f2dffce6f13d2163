/*! Plans in tests: what they allow, and what executing their statements makes of a schema. */
import { isEnterpriseSchema } from '@sqlpipe/ddl';
import { Engine, type EngineOptions, whenReady } from '@sqlpipe/engine';
import type { Plan } from '@sqlpipe/plan';
import { formatLoss } from '@sqlpipe/plan/text';

export const lossesOf = ({ omissions }: Plan): string[] => [
  ...new Set(omissions.flatMap(({ losses = [] }) => losses.map(formatLoss))),
];

export const textsOf = ({ statements }: Plan): string[] => statements.map(({ statement }) => statement);

export const changesOf = (plan: Plan): string[] => textsOf(plan).filter(text => !text.startsWith('SELECT'));

export function engineWith(statements: readonly string[], options: EngineOptions = {}): Engine {
  const engine = new Engine({ isEnterprise: isEnterpriseSchema(statements), rows: 'assumed', ...options });
  engine.load(statements);
  return engine;
}

export async function executeAll(schema: readonly string[], statements: readonly string[]): Promise<string[]> {
  const engine = engineWith(schema);
  for (const statement of statements) await whenReady(() => engine.execute(statement));
  return engine.statements();
}
