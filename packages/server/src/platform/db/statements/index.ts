export { columnsOf, insertRows, listed, updateRows } from './rows.ts';
export { deferred, type PreparedStatement, pipeline, prepared } from './statement.ts';
