import type { PageLanguage } from '@florin/contract/checkout-page';

/** Texts of the claim page. `{amount}`, `{network}` and `{store}` stand for what they name. */
export interface ClaimWords {
  test: string;
  title: string;
  lead: string;
  label: string;
  hint: string;
  once: string;
  next: string;
  networks: Record<'erc20' | 'trc20' | 'spl', string>;
  errorTitle: string;
  errors: Record<'empty' | 'format' | 'checksum' | 'unusable', string>;
  checkTitle: string;
  checkText: string;
  address: string;
  amount: string;
  network: string;
  send: string;
  back: string;
  heldTitle: string;
  heldText: string;
  wayTitle: string;
  wayText: string;
  paidTitle: string;
  paidText: string;
  transaction: string;
  failedTitle: string;
  failedText: string;
  overTitle: string;
  overText: string;
  suspendedTitle: string;
  suspendedText: string;
  unknownTitle: string;
  unknownText: string;
}

const NETWORKS = { erc20: 'Ethereum (ERC-20)', trc20: 'Tron (TRC-20)', spl: 'Solana (SPL)' };

export const CLAIM_WORDS: Readonly<Record<PageLanguage, ClaimWords>> = {
  en: {
    test: 'Test mode: no real money moves.',
    title: 'Your refund',
    lead: '{store} is sending you back {amount}. Where should it go?',
    label: 'Your address on {network}',
    hint: 'Use your own wallet, or the deposit address of your account at an exchange. An address on any other network would lose the money.',
    once: 'You can do this once. It cannot be changed afterwards.',
    next: 'Continue',
    networks: NETWORKS,
    errorTitle: 'This address cannot be used',
    errors: {
      empty: 'Enter the address that the money should go to.',
      format:
        'This is not an address on {network}. Copy it whole from your wallet, and check the network there.',
      checksum: 'A character of the address is wrong. Copy it again instead of typing it.',
      unusable: 'No money can be sent to this address. Use the address of your own wallet.',
    },
    checkTitle: 'Is this your address?',
    checkText:
      'Compare the first and the last characters with your wallet. Money sent to a wrong address is lost.',
    address: 'Address',
    amount: 'Amount',
    network: 'Network',
    send: 'Yes, send it there',
    back: 'Change the address',
    heldTitle: 'Your address is noted',
    heldText:
      '{store} checks the refund before it is sent, which may take some days. Nothing is left for you to do; reload this page to see.',
    wayTitle: 'Your refund is on its way',
    wayText: 'Nothing is left for you to do. It usually arrives within minutes; reload this page to see.',
    paidTitle: 'Your refund was sent',
    paidText: 'The money is at your address.',
    transaction: 'Transaction',
    failedTitle: 'Your refund could not be sent',
    failedText: 'The money is back at {store}. Please ask there for a new refund.',
    overTitle: 'This link is over',
    overText: 'The refund was canceled or not claimed in time. Please ask {store} for a new one.',
    suspendedTitle: '{store} is stopped for now',
    suspendedText: 'No refund can be claimed until it goes on. Keep this link, and open it again later.',
    unknownTitle: 'There is no refund here',
    unknownText: 'Check that the link is complete, or ask the store for it again.',
  },
  es: {
    test: 'Modo de prueba: no se mueve dinero real.',
    title: 'Su reembolso',
    lead: '{store} le devuelve {amount}. ¿A dónde lo enviamos?',
    label: 'Su dirección en {network}',
    hint: 'Use su propia cartera o la dirección de depósito de su cuenta en una casa de cambio. En una dirección de otra red el dinero se perdería.',
    once: 'Puede hacerlo una sola vez. Después no se puede cambiar.',
    next: 'Continuar',
    networks: NETWORKS,
    errorTitle: 'Esta dirección no se puede usar',
    errors: {
      empty: 'Escriba la dirección a la que debe ir el dinero.',
      format: 'Esta no es una dirección de {network}. Cópiela entera de su cartera y compruebe allí la red.',
      checksum: 'Un carácter de la dirección es incorrecto. Cópiela de nuevo en lugar de escribirla.',
      unusable: 'No se puede enviar dinero a esta dirección. Use la dirección de su propia cartera.',
    },
    checkTitle: '¿Es esta su dirección?',
    checkText:
      'Compare los primeros y los últimos caracteres con su cartera. El dinero enviado a una dirección equivocada se pierde.',
    address: 'Dirección',
    amount: 'Importe',
    network: 'Red',
    send: 'Sí, enviar ahí',
    back: 'Cambiar la dirección',
    heldTitle: 'Su dirección está anotada',
    heldText:
      '{store} revisa el reembolso antes de enviarlo, lo que puede tardar unos días. No tiene que hacer nada más; recargue esta página para verlo.',
    wayTitle: 'Su reembolso está en camino',
    wayText: 'No tiene que hacer nada más. Suele llegar en unos minutos; recargue esta página para verlo.',
    paidTitle: 'Su reembolso se ha enviado',
    paidText: 'El dinero está en su dirección.',
    transaction: 'Transacción',
    failedTitle: 'No se pudo enviar su reembolso',
    failedText: 'El dinero está de nuevo en {store}. Pida allí un nuevo reembolso.',
    overTitle: 'Este enlace ya no vale',
    overText: 'El reembolso se canceló o no se reclamó a tiempo. Pida uno nuevo a {store}.',
    suspendedTitle: '{store} está detenida por ahora',
    suspendedText:
      'No se puede reclamar ningún reembolso hasta que continúe. Guarde este enlace y ábralo de nuevo más tarde.',
    unknownTitle: 'Aquí no hay ningún reembolso',
    unknownText: 'Compruebe que el enlace esté completo o pídalo de nuevo a la tienda.',
  },
  ar: {
    test: 'وضع الاختبار: لا تُنقل أموال حقيقية.',
    title: 'المبلغ المسترد',
    lead: 'يعيد إليك {store} مبلغ {amount}. إلى أين نرسله؟',
    label: 'عنوانك على شبكة {network}',
    hint: 'استخدم محفظتك الخاصة أو عنوان الإيداع في حسابك لدى منصة التداول. إرسال المال إلى عنوان على شبكة أخرى يعني ضياعه.',
    once: 'يمكنك فعل ذلك مرة واحدة فقط، ولا يمكن تغييره بعد ذلك.',
    next: 'متابعة',
    networks: NETWORKS,
    errorTitle: 'لا يمكن استخدام هذا العنوان',
    errors: {
      empty: 'أدخل العنوان الذي سيُرسل إليه المال.',
      format: 'هذا ليس عنوانًا على شبكة {network}. انسخه كاملًا من محفظتك وتحقق من الشبكة هناك.',
      checksum: 'أحد أحرف العنوان خاطئ. انسخه من جديد بدلًا من كتابته.',
      unusable: 'لا يمكن إرسال المال إلى هذا العنوان. استخدم عنوان محفظتك الخاصة.',
    },
    checkTitle: 'هل هذا عنوانك؟',
    checkText: 'قارن الأحرف الأولى والأخيرة بما في محفظتك. المال المرسل إلى عنوان خاطئ يضيع.',
    address: 'العنوان',
    amount: 'المبلغ',
    network: 'الشبكة',
    send: 'نعم، أرسل إلى هناك',
    back: 'تغيير العنوان',
    heldTitle: 'تم تسجيل عنوانك',
    heldText:
      'يراجع {store} الاسترداد قبل إرساله، وقد يستغرق ذلك بضعة أيام. لا شيء آخر مطلوب منك؛ أعد تحميل الصفحة لترى ذلك.',
    wayTitle: 'المبلغ المسترد في الطريق',
    wayText: 'لا شيء آخر مطلوب منك. يصل عادةً خلال دقائق؛ أعد تحميل الصفحة لترى ذلك.',
    paidTitle: 'أُرسل المبلغ المسترد',
    paidText: 'المال في عنوانك.',
    transaction: 'المعاملة',
    failedTitle: 'تعذّر إرسال المبلغ المسترد',
    failedText: 'عاد المال إلى {store}. اطلب منه استردادًا جديدًا من فضلك.',
    overTitle: 'انتهت صلاحية هذا الرابط',
    overText: 'أُلغي الاسترداد أو لم يُطلب في الوقت المحدد. اطلب من {store} استردادًا جديدًا.',
    suspendedTitle: '{store} متوقف حاليًا',
    suspendedText: 'لا يمكن طلب أي استرداد حتى يُستأنف العمل. احتفظ بهذا الرابط وافتحه مرة أخرى لاحقًا.',
    unknownTitle: 'لا يوجد استرداد هنا',
    unknownText: 'تأكد من أن الرابط كامل، أو اطلبه من المتجر مرة أخرى.',
  },
};
