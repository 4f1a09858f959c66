from pathlib import Path
from policies import load_policy
from policies.explain import explain
f=Path('fixtures/policies')
p=load_policy(f/'refund_desk.yaml')
t=explain(p,None).replace(p.revision[:12],'REVISION')
(f/'refund_desk.explained.txt').write_text(t)
