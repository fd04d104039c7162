export { countMandates, findByMandate } from '../queries.ts';
export { dropUnserved } from './drop-mandate.ts';
export { METHOD_CHANGED_JOB, readMandate, readWallet } from './read-mandate.ts';
export { changeSandboxWallet, confirmInSandbox } from './sandbox-wallet.ts';
export { type GivenMandate, saveMandate } from './save-mandate.ts';
export { settleActivation } from './settle-activation.ts';
export { WATCH_METHODS_JOB } from './watch-job.ts';
export { watchMethods } from './watch-methods.ts';
