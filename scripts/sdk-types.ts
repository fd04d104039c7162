import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { wordsOf } from '../packages/pages/src/words.ts';
import { sdkTypes } from './wire-types.ts';

wordsOf(
  `node scripts/run.js scripts/sdk-types.ts
  Writes the SDK's types anew, from the OpenAPI document.`,
  [0, 0],
);
writeFileSync(path.resolve(import.meta.dirname, '../packages/sdk/src/wire.ts'), await sdkTypes());
