export { readNetworks, type StoppedChain } from './read-networks.ts';
export { confirmResume, requestResume, resumeSandbox, withdrawRequest } from './resume-requests.ts';
