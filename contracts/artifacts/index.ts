// Made by npm run contracts.
export { BatchPayout } from './BatchPayout.ts';
export { SweepDelegate } from './SweepDelegate.ts';
export { Sweeper } from './Sweeper.ts';
export { TestHostileToken } from './TestHostileToken.ts';
export { TestProxy } from './TestProxy.ts';
export { TestUSDC } from './TestUSDC.ts';
export { TestUSDT } from './TestUSDT.ts';
