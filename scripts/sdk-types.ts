import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { sdkTypes } from './wire-types.ts';

/** `node scripts/run.js scripts/sdk-types.ts` writes the SDK's types anew from the OpenAPI document. */
writeFileSync(path.resolve(import.meta.dirname, '../packages/sdk/src/wire.ts'), await sdkTypes());
