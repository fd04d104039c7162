declare module '../../platform/db/db.ts' {
  interface Tables {
    payment_link: {
      merchant_id: string;
      link_id: string;
      store_id: string;
      amount: bigint | null;
      currency: string;
      description: string | null;
      active: boolean;
      created_at: bigint | number;
    };
  }
}
