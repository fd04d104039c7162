export { builtConsole } from './built-console.ts';
