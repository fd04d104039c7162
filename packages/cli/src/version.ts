import { readFileSync } from 'node:fs';

/** The version of the package that this code is part of. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return String(version);
}
