import path from 'node:path';
import { wordsOf } from '../packages/pages/src/words.ts';
import { makeFlorin, makeSdk, makeSigner } from './packages.ts';
import { ROOT } from './step.ts';

wordsOf(
  `npm run build
  Makes the pages, the console and the documentation site that the service serves from this checkout, and the packages as
  they are published, in dist/packages.`,
  [0, 0],
);

await import(path.join(ROOT, 'packages/pages/src/build.ts'));
await import(path.join(ROOT, 'packages/console/src/build.ts'));
await import(path.join(ROOT, 'packages/site/src/build.ts'));
for (const make of [makeSdk, makeSigner, makeFlorin]) console.log(path.relative(ROOT, await make()));
