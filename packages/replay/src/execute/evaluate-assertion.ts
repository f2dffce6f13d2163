import { type Client, InstanceError, type PollLimits, pollUntilSettled } from '@sqlpipe/instance';
import { parseAssertion } from '@sqlpipe/plan/text';
import type { StatementResult } from '../outcome.js';

/** Background work of the server may make a false answer true. So the SELECT is repeated until the answer is final, or the time is up. */
export async function evaluateAssertion(
  statement: string,
  client: Client,
  pollLimits: PollLimits,
): Promise<StatementResult> {
  const assertion = parseAssertion(statement);
  const fetchIsTrue = async () => {
    const rows = await client.queryRows(statement);
    return rows.length > 0 && rows.flat().every(cell => cell === true);
  };
  const isFinal = (isTrue: boolean) => isTrue || assertion?.isFinal === true;
  try {
    const isTrue = await pollUntilSettled(client, assertion?.comparedView, fetchIsTrue, isFinal, pollLimits);
    if (isTrue) return { result: 'applied' };
    const answers: unknown[][] = [];
    for (const question of assertion?.questions ?? [])
      answers.push((await client.queryRows(question)).map(([value]) => value));
    const why = assertion ? `: ${assertion.formatReason(answers)}` : '';
    return { result: 'rejected', error: `the assertion is not true${why}` };
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    if (error.serverMessage === undefined) {
      const failure = assertion?.help ? error.withMessage(`${error.message}: ${assertion.help}`) : error;
      return { result: 'failed', error: failure.message, failure }; // never `unknown`: a SELECT changes nothing
    }
    return { result: 'rejected', error: error.serverMessage, isDenied: error.code === 'DENIED' };
  }
}
