export { columnsOf, insertRows, listed, updateRows } from './rows.ts';
export { deferred, PreparedStatement, pipeline, prepared } from './statement.ts';
