import { readFileSync } from 'node:fs';
import {
  type Defaults,
  decodeFile,
  FileFault,
  FileFaults,
  type FilePayout,
  readCsv,
  readJson,
} from '@florin/contract/payout-file';
import { attempt, CommandFailure } from './failure.ts';

const FAULTS_SHOWN = 20;
const READERS = { csv: readCsv, json: readJson };

/** Whom a file pays. @throws CommandFailure with a line for each fault, where it is and what */
export function readPayoutFile(file: string, defaults: Defaults): FilePayout {
  const bytes = attempt('file', `${file} cannot be read`, () => readFileSync(file));
  try {
    const read = /\.csv$/i.test(file) ? READERS.csv : READERS.json;
    return read(decodeFile(bytes), defaults);
  } catch (error) {
    if (!(error instanceof FileFault || error instanceof FileFaults)) throw error;
    throw fileFailure(file, error instanceof FileFaults ? error.faults : [error.message]);
  }
}

function fileFailure(file: string, faults: readonly string[]): CommandFailure {
  const more = faults.length - FAULTS_SHOWN;
  const lines = faults.slice(0, FAULTS_SHOWN).map((fault) => `${file}, ${fault}`);
  return new CommandFailure(
    'invalid_file',
    [...lines, ...(more > 0 ? [`and ${more} more`] : []), 'Nothing was sent.'].join('\n'),
  );
}
