export { decodeIdToken, encodeIdToken } from './id-token.ts';
export { decodeUuid, encodeUuid, madeAt, NIL_ID, newId } from './ids.ts';
