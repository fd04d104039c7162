/** Advances the transfers of one group; payload `{ groupId }`. */
export const SEND_JOB = 'transfers.send';
