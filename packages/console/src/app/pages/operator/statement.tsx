import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useId } from '../../place.ts';
import { Statement } from '../../statement.tsx';

/** The statement of a period of any merchant, for operator and auditors. */
export const MerchantStatementPage = () => (
  <Statement
    merchant={useId()}
    back={
      <Anchor component={Link} to="/operator/merchants" size="sm">
        ← Merchants
      </Anchor>
    }
  />
);
