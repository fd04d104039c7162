import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { usePlace } from '../place.ts';
import { Statement } from '../statement.tsx';

/** The statement of a period of the merchant's accounts. */
export function StatementPage() {
  const { merchant, store } = usePlace();
  return (
    <Statement
      merchant={merchant}
      back={
        <Anchor component={Link} to={`/${merchant}/${store}/balances`} size="sm">
          ← Balances
        </Anchor>
      }
      example="npx florin checkout create 12.50 USD"
    />
  );
}
