import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sdkTypes } from './wire-types.ts';

test("the SDK's types are those of the OpenAPI document", async () => {
  const committed = readFileSync(path.resolve(import.meta.dirname, '../packages/sdk/src/wire.ts'), 'utf8');
  expect(committed, 'run: node scripts/run.js scripts/sdk-types.ts').toBe(await sdkTypes());
});
