/*! Resolves operands as sqldump does. */
import type { ExecutionContext } from 'ava';
import { type ConnectionOptions, InstanceError, resolveInstance } from '../../packages/instance/src/index.js';

/** A password that no message may contain. */
export const SECRET = 's3cr;t pä:ss';

export interface Given {
  operand?: string;
  env?: Record<string, string>;
  options?: ConnectionOptions;
  ask?: (question: string) => Promise<string | undefined>;
}

/** Resolves an operand as sqldump does, without the settings of the current user. */
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

/** Asserts that an operand is rejected as a configuration error, and that the message contains no secret. */
export async function misconfigured(t: ExecutionContext, given: Given, message: RegExp | string): Promise<void> {
  const error = await t.throwsAsync(resolve(given), { instanceOf: InstanceError, message });
  t.is(error.code, 'CONFIG');
  for (const secret of ['s3cr', 't0ken', Buffer.from(SECRET).toString('base64')])
    t.false(error.message.includes(secret));
}
