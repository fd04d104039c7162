export { decodeIdToken, encodeIdToken } from './id-token.ts';
export { decodeUuid, encodeUuid, firstIdAt, madeAt, madeAtMs, NIL_ID, newId } from './ids.ts';
