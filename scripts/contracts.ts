import { wordsOf } from '../packages/pages/src/words.ts';
import { writeArtifacts } from './solidity.ts';

wordsOf(
  `npm run contracts
  Compiles contracts/ and writes the artifacts, and what the signer knows of them.`,
  [0, 0],
);

const names = await writeArtifacts();
console.log(`contracts/artifacts: ${names.join(', ')}`);
// Loaded only now: it imports the artifacts.
const { writeSignerBytecode } = await import('./signer-bytecode.ts');
console.log(await writeSignerBytecode());
