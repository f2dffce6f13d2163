/*! Operands resolved as sqldump resolves them. */
import type { ExecutionContext } from 'ava';
import { InstanceError, type InstanceOptions, resolveInstance } from '../../packages/instance/src/index.js';

/** A password that must be in no message. */
export const SECRET = 's3cr;t pä:ss';

/** An operand, and what else is given. */
export interface Given {
  operand?: string;
  env?: Record<string, string>;
  options?: InstanceOptions;
  ask?: (question: string) => Promise<string | undefined>;
}

/** Resolves an operand as sqldump would; nothing of this machine's user comes in. */
export async function resolve({ operand = 'localhost', env = {}, options = {}, ask }: Given) {
  const warnings: string[] = [];
  const target = await resolveInstance(operand, {
    program: 'sqldump',
    env,
    options,
    warn: message => warnings.push(message),
    ...(ask && { promptSecret: ask }),
  });
  return { ...target, warnings };
}

/** That it fails as a matter of configuration, without telling a secret. */
export async function misconfigured(t: ExecutionContext, given: Given, message: RegExp | string): Promise<void> {
  const error = await t.throwsAsync(resolve(given), { instanceOf: InstanceError, message });
  t.is(error.code, 'CONFIG');
  for (const secret of ['s3cr', 't0ken', Buffer.from(SECRET).toString('base64')])
    t.false(error.message.includes(secret));
}
