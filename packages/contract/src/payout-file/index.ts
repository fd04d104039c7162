/** A file of people to pay, as the console and the command line read it: CSV with a heading, or JSON. */
export {
  type CellFault,
  checkRow,
  type Defaults,
  PAYOUT_FIELDS,
  type PayoutCells,
  type PayoutField,
} from './check-row.ts';
export { FileFault } from './csv-rows.ts';
export { decodeFile } from './decode.ts';
export { faultyRowsCsv } from './faulty-rows.ts';
export { batchKey, type PlannedBatch, planBatches, repeatsIn, totalOf } from './plan.ts';
export {
  FileFaults,
  type FileItem,
  type FilePayout,
  locationOf,
  type PayoutRow,
  readCsv,
  readJson,
  readRows,
} from './read-items.ts';
