export { builtConsole } from './built-console.ts';
export { documentOf } from './document.ts';
