import { writeArtifacts } from './solidity.ts';

const names = await writeArtifacts();
console.log(`contracts/artifacts: ${names.join(', ')}`);
// Loaded only now: it imports the artifacts.
const { writeSignerBytecode } = await import('./signer-bytecode.ts');
console.log(await writeSignerBytecode());
