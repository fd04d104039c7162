export { OtherChain, pinChains } from './pin-chains.ts';
