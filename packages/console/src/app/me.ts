export interface Membership {
  merchant_id: string;
  name: string;
  mode: 'sandbox' | 'live';
  role: string;
  permissions: string[];
  needs_second_factor: boolean;
}

/** Who is signed in. */
export interface Me {
  user_id: string;
  email: string;
  csrf_token: string;
  installation_role: string | null;
  second_factor: boolean;
  merchants: Membership[];
}

/** A store, as the console's routes show it. */
export interface Store {
  store_id: string;
  name: string;
  channel_type: 'api' | 'hosted';
  review_status: 'pending' | 'approved' | 'rejected';
  is_open: boolean;
  is_enabled: boolean;
  created_at: string;
}
