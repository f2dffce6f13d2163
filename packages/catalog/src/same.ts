import { statementOf } from '@sqlpipe/sql';
import { mend } from './mend.js';

/** Whether two statements make the same object for all that their texts say, whatever a server printed wrongly in either. */
export const isSame = (one: string, other: string): boolean => one === other || mended(one) === mended(other);

const mended = (text: string): string => statementOf(mend(text).statement);
