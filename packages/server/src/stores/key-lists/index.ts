export { ListedKeySchema, listKeys } from './list-keys.ts';
