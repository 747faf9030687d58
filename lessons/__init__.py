"""What a lesson computes, says and asks, as data. No Streamlit, no Altair."""
