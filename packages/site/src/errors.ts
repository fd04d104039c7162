import {
  type Explanation,
  PAYOUT_ERRORS,
  PERMISSION_DENIED,
  STRUCTURED_ERRORS,
} from '@florin/contract/errors';

export interface ErrorCode extends Explanation {
  code: string;
  status: number;
}

/**
 * All error codes, by status and then by name. A code means the same in both error formats; `forbidden` (403) exists in
 * the payout format only.
 */
export const errorCodes = (): ErrorCode[] =>
  Object.entries({ ...PAYOUT_ERRORS, ...STRUCTURED_ERRORS, forbidden: PERMISSION_DENIED })
    .map(([code, explained]) => ({ ...explained, code }))
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
