import { writeArtifacts } from './solidity.ts';

const names = await writeArtifacts();
console.log(`contracts/artifacts: ${names.join(', ')}`);
