import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { Fail } from '../platform/fail.ts';

interface Placed {
  contract: string;
  address: string;
}

/** The text of a networks file with these addresses where it says null or nothing; all else stays as it was written. Pure. */
function withContracts(text: string, placed: readonly Placed[]): string {
  return placed.reduce(
    (filled, { contract, address }) =>
      new RegExp(`"${contract}"\\s*:`).test(filled)
        ? filled.replace(new RegExp(`("${contract}"\\s*:\\s*)null`), `$1"${address}"`)
        : // A file from before there was that contract.
          filled.replace(/("contracts"\s*:\s*\{)(\s*)/, `$1$2"${contract}": "${address}",$2`),
    text,
  );
}

/** Whole or not at all. @returns whether the file was changed @throws Fail where it cannot be written */
export function fillContracts(file: string, placed: readonly Placed[]): boolean {
  try {
    const place = realpathSync(file);
    const text = readFileSync(place, 'utf8');
    const filled = withContracts(text, placed);
    if (filled === text) return false;
    const unfinished = `${place}.${process.pid}`;
    writeFileSync(unfinished, filled, { mode: statSync(place).mode });
    renameSync(unfinished, place);
    return true;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const addresses = placed.map(({ contract, address }) => `contracts.${contract} ${address}`).join(', ');
    const message = `The contracts are on the chain, but ${file} cannot be written (${reason}): put ${addresses} there.`;
    throw new Fail('conflict', { message, cause: error });
  }
}
