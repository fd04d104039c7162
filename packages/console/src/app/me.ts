export interface Membership {
  merchant_id: string;
  name: string;
  mode: 'sandbox' | 'live';
  role: string;
  permissions: string[];
  needs_second_factor: boolean;
  /** Roles that the merchant has made for itself. */
  own_roles: { name: string; permissions: string[] }[];
}

/** Who is signed in. */
export interface Me {
  user_id: string;
  email: string;
  csrf_token: string;
  installation_role: string | null;
  /** What that role permits with every merchant. */
  installation_permissions: string[];
  second_factor: boolean;
  /** The built-in roles of a merchant's people that may do each thing. */
  roles_with: Readonly<Record<string, readonly string[]>>;
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
