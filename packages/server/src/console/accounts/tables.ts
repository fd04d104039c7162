import type { InstallationRole } from '../roles.ts';

export interface UserRow {
  user_id: string;
  email: string;
  created_at_ms: bigint | number;
  password_hash: string | null;
  installation_role: InstallationRole | null;
  totp_secret: Buffer | null;
  totp_confirmed: boolean;
  totp_used_step: bigint | number;
}

export interface SessionRow {
  session_id: string;
  digest: Buffer;
  user_id: string;
  created_at_ms: bigint | number;
  seen_at_ms: bigint | number;
  proved_at_ms: bigint | number;
  has_second_factor: boolean;
  remote_address: string;
  user_agent: string;
  ended_at_ms: bigint | number | null;
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    console_user: UserRow;
    console_membership: {
      merchant_id: string;
      user_id: string;
      /** Of a built-in role, or of one of `console_role`. */
      role: string;
      created_at_ms: bigint | number;
    };
    console_role: {
      merchant_id: string;
      name: string;
      permissions: string[];
      created_at_ms: bigint | number;
    };
    console_link: {
      digest: Buffer;
      user_id: string;
      kind: 'invitation' | 'sign_in';
      merchant_id: string | null;
      role: string | null;
      made_by: string | null;
      created_at_ms: bigint | number;
      expires_at_ms: bigint | number;
      used_at_ms: bigint | number | null;
    };
    console_session: SessionRow;
    console_recovery_code: { user_id: string; digest: Buffer; used_at_ms: bigint | number | null };
    console_passkey: {
      credential_id: Buffer;
      user_id: string;
      name: string;
      public_key: Buffer;
      counter: bigint | number;
      created_at_ms: bigint | number;
      used_at_ms: bigint | number | null;
    };
    console_challenge: { digest: Buffer; expires_at_ms: bigint | number };
    console_attempt: { subject: Buffer; times_ms: (bigint | number)[]; last_at_ms: bigint | number };
  }
}
