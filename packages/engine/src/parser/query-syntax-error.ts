import { RejectionError } from '@sqlpipe/ddl/grammar';

/** A text that is not a query, as far as the grammar knows. */
export class QuerySyntaxError extends RejectionError {
  override name = 'QuerySyntaxError';
}
