export { withCsv } from './with-csv.ts';
