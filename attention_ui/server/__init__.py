"""What a hosted instance must take: headers, packed files, health and logs. Plain ASGI, nothing of Streamlit."""
