export { proveByText, textToSign } from './prove-by-text.ts';
