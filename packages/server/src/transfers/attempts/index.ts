export { readDeciding } from './versions.ts';
