/*! Streams for the enterprise edition: users, grants and permissions, sent by the administrator or by somebody who lacks some. */
import type { Comparison, Difference, DryRuns } from './dry-runs.js';
import { enterprisePair } from './enterprise-pairs.js';
import { admin, executeAs } from './principals.js';
import { randomness } from './schema-pairs.js';
import { openScope } from './scope.js';
import { serveHere } from './sqlserve.js';
import { planOf, type StatementStream } from './statement-streams.js';

interface EnterpriseStream extends StatementStream {
  readonly user: 'admin' | 'limited';
}

const RIGHTS = [
  ...['CREATE TABLE', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW', 'SELECT ON ALL TABLES', 'ADD COLUMN ON ALL TABLES'],
  ...['DROP TABLE ON ALL TABLES', 'CREATE USER', 'CREATE GROUP', 'LIST USERS', 'USER DETAILS'],
];

/** What no plan has, and what is rejected whatever there is. */
const OTHERS = [
  'CREATE USER IF NOT EXISTS ann',
  'CREATE USER bad WITH PASSWORD',
  'DROP USER nobody',
  'ADD USER nobody TO staff',
  'ALTER USER ann DISABLE',
  'GRANT SELECT ON nowhere TO ann',
  'GRANT NOTHING ON trades TO ann',
  'REVOKE SELECT ON trades FROM nobody',
  'CREATE TABLE owned (a INT) OWNED BY nobody',
];

async function enterpriseStream(seed: number): Promise<EnterpriseStream> {
  const random = randomness(seed ^ 0xe17);
  const pair = enterprisePair(seed);
  const user = random.chance(0.5) ? 'admin' : 'limited';
  const share = random.pick([0, 0.5, 1]);
  const statements = [...pair.after, ...(await planOf(pair))]
    .filter(() => random.chance(0.6))
    .filter(statement => !statement.startsWith('UPDATE')) // sqlserve rejects it, because it has no rows
    .map(statement => statement.replace(/;$/, ''));
  if (random.chance(0.6))
    for (let count = 1 + random.below(4); count > 0; count--)
      statements.splice(random.below(statements.length + 1), 0, random.pick(OTHERS));
  return {
    seed,
    user,
    source: `access control, by ${user}`,
    target: [
      ...pair.before.filter(statement => random.chance(share) || statement.startsWith('CREATE USER')),
      'CREATE USER limited',
      "ALTER USER limited WITH PASSWORD 'quest'",
      ...['HTTP', ...RIGHTS.filter(() => random.chance(0.5))].map(right => grant(right)),
    ],
    statements,
  };
}

const grant = (right: string): string => `GRANT ${right} TO limited`;

export async function compareOnSqlserve({ compare }: DryRuns, seed: number): Promise<Comparison> {
  const scope = openScope();
  try {
    const server = await serveHere(scope, { edition: 'enterprise' });
    const stream = await enterpriseStream(seed);
    for (const statement of stream.target) await executeAs(server, admin, statement);
    const comparison = await compare(server, stream, `--user ${stream.user}`);
    return { ...comparison, differences: comparison.differences.filter(each => !isFailedRefresh(each)) };
  } finally {
    await scope.end();
  }
}

/** A refresh fails on a real server, but sqlserve has no rows and does not show how a refresh ended. */
const isFailedRefresh = ({ dry, run }: Difference): boolean =>
  run?.result === 'applied' && /^accepted, but the refresh failed: /.test(dry?.error ?? '');
