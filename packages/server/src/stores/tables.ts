import type { Scope } from '@florin/contract/scopes';
import type { ColumnType, Generated } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    merchant: {
      merchant_id: string;
      name: string;
      mode: 'sandbox' | 'live';
      status: Generated<'active' | 'suspended'>;
      clock_offset: Generated<bigint>;
      suspended_at: ColumnType<Int8 | null, Int8 | null | undefined>;
      suspended_seconds: Generated<bigint>;
      resumed_at: ColumnType<Int8 | null, Int8 | null | undefined>;
      created_at: Int8;
    };
    store: {
      merchant_id: string;
      store_id: string;
      name: string;
      channel_type: 'api' | 'hosted';
      review_status: Generated<'pending' | 'approved' | 'rejected'>;
      enabled: Generated<boolean>;
      /** What payers see of it; see branding/brand.ts. */
      accent: Generated<string | null>;
      support: Generated<string | null>;
      terms_url: Generated<string | null>;
      logo_id: Generated<string | null>;
      /** As pages show it, in pixels. */
      logo_width: Generated<number | null>;
      logo_height: Generated<number | null>;
      /** The key whose secret signs the store's webhooks; during an overlap the previous one's secret signs. */
      webhook_key_id: Generated<string | null>;
      previous_webhook_key_id: Generated<string | null>;
      previous_webhook_key_until_ms: Generated<Int8 | null>;
      created_at: Int8;
    };
    store_logo: {
      merchant_id: string;
      store_id: string;
      logo_id: string;
      type: 'image/png' | 'image/svg+xml';
      body: Buffer;
    };
    approver: {
      merchant_id: string;
      approver_id: string;
      name: string;
      /** Equal for names that look alike; null in rows from before the check. */
      skeleton: Generated<string | null>;
      token_digest: Buffer;
      /** By which their signatures are known: of Ed25519, or an Ethereum address. */
      public_key: Generated<string | null>;
      /** The person of the console who they are. */
      user_id: Generated<string | null>;
      /** They became one by deciding in the console: their right follows their role there. */
      from_console: Generated<boolean>;
      removed_at: bigint | number | null;
      created_at: Int8;
    };
    approval_lock: { merchant_id: string; kind: 'payouts' | 'refunds' };
    api_key: {
      merchant_id: string;
      key_id: string;
      store_id: string;
      name: string;
      digest: Buffer;
      last_four: string;
      scopes: Scope[];
      owner_approver_id: string | null;
      /** People of the console who were shown a secret of it. */
      holders: Generated<string[]>;
      last_used_at_ms: Generated<bigint | number | null>;
      secret: Buffer;
      previous_secret: Buffer | null;
      previous_secret_until_ms: bigint | number | null;
      /** Webhooks are signed with the previous secret until it ends or the merchant confirms. */
      previous_secret_signs: Generated<boolean>;
      expires_at_ms: bigint | number | null;
      revoked_at_ms: bigint | number | null;
      created_at: Int8;
    };
    vote: {
      merchant_id: string;
      action: string;
      subject: string;
      approver_id: string;
      decision: string;
      created_at: Int8;
    };
    nonce: { merchant_id: string; key_id: string; nonce: string; spent_at_ms: Int8 };
  }
}
